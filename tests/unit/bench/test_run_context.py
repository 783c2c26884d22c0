def test_notes_are_written_and_indexed_once(make_context):
    context = make_context()

    assert context.index_notes() is context.index_notes()
    assert len(context.runner.commands) == 1


def test_the_size_is_what_was_indexed(make_context):
    context = make_context(chunks=12)
    asked = context.count_chunks()

    notes = context.index_notes()

    assert asked == 12
    assert context.count_chunks() == notes.chunks


def test_sandboxes_do_not_share_a_knowledge_base(make_context):
    context = make_context()

    assert context.create_sandbox("a").data != context.create_sandbox("b").data
