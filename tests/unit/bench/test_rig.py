def test_notes_are_written_and_indexed_once(make_rig):
    rig = make_rig()

    assert rig.notes() is rig.notes()
    assert len(rig.runner.commands) == 1


def test_the_size_is_what_was_indexed(make_rig):
    rig = make_rig(chunks=12)
    asked = rig.measured_chunks()

    notes = rig.notes()

    assert asked == 12
    assert rig.measured_chunks() == notes.chunks


def test_beds_do_not_share_a_knowledge_base(make_rig):
    rig = make_rig()

    assert rig.bed("a").data != rig.bed("b").data
