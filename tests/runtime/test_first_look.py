from drl.runtime.first_look import bounded


def test_what_exceeds_its_bound_is_lowered_and_nothing_else_changes():
    settings = {"dataset": {"limit": None, "start": 5}, "trainer": {"updates": 1, "check": True}}
    most = {"dataset": {"limit": 3}, "trainer": {"updates": 2, "check": False}, "rollout": {"a": 1}}
    # null is all, so it exceeds 3; 1 does not exceed 2; there is no rollout, so none appears
    assert bounded(settings, most) == {
        "dataset": {"limit": 3, "start": 5},
        "trainer": {"updates": 1, "check": False},
    }


def test_a_bound_of_settings_leaves_a_part_that_is_not_there_alone():
    assert bounded({"critic": None, "name": "x"}, {"name": 3}) == {"critic": None, "name": "x"}
