def test_a_page_is_written_as_frames_that_end_with_complete_and_end(kebab):
    ran = kebab("search", "word", "-n", "2", "--stream")

    assert [one["type"] for one in ran.events] == ["stage", "progress", "items", "complete", "end"]
    assert len(ran.events[2]["data"]["items"]) == 2
    assert ran.events[3]["data"]["hit_count"] == 2
    assert ran.events[3]["data"]["next_cursor"] == "CURSOR"
    assert [one["exit_code"] for one in ran.events] == [None, 0, 0, 0, 0]
    assert (ran.status, ran.err) == (0, "")


def test_an_empty_page_has_exit_status_1(kebab):
    ran = kebab("search", "nothing", "--stream")

    assert ran.status == 1
    assert ran.events[-1] == {**ran.events[-1], "type": "end", "exit_code": 1, "data": {}}


def test_an_error_is_a_frame_and_is_reported_with_the_same_id(kebab):
    ran = kebab("search", "broken", "--stream")

    assert [one["type"] for one in ran.events] == ["stage", "error", "end"]
    sent = ran.events[1]["data"]["error"]
    assert (ran.status, sent["code"]) == (3, "store_corrupt")
    assert sent["correlation_id"] == ran.fault["correlation_id"]
    assert "command" not in sent
