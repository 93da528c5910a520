"""Tasks of the miniature as drl sees them."""

from drl.types import Goal, Role


def test_the_customer_is_told_the_scenario_and_goals_are_the_agents_actions(task):
    easy = task("easy")
    assert easy.brief.instructions == (
        "Persona: None\nInstructions: Your radio is silent. You want to hear music.",
    )
    # the task's second action, to press a button, is the customer's
    (goal,) = easy.goals
    assert goal == Goal("activate", "radio", {"reason": "silence"}, {"compare_args": None})


def test_groups_tell_what_is_demanded_and_what_the_id_says(task):
    assert task("ask").groups == {"demands": "DB+COMMUNICATE"}
    assert task("free").groups == {"demands": "nothing"}
    hard = {"demands": "ENV_ASSERTION+ACTION", "issue": "silence", "persona": "Hard"}
    assert task("hard").groups == hard


def test_the_agent_has_greeted_unless_the_task_begins_in_the_middle(task):
    (greeting,) = task("collect").opening
    assert (greeting.role, greeting.text) == (Role.AGENT, "Hi! How can I help you today?")
    said = [(turn.role, turn.text) for turn in task("resume").opening]
    assert said == [
        (Role.USER, "I want to leave a parcel for Dan."),
        (Role.AGENT, "I keep it as P3."),
    ]


def test_splits_are_the_packages_own(dataset):
    assert [each.id for each in dataset("radio", split="small").load()] == [
        "[silence]off[PERSONA:Easy]"
    ]
    assert len(dataset("radio").load()) == 2
