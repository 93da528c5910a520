"""tau-bench's Python files are read as data, and what is no data in them is refused."""

import pytest

from drl.domains.tau.ast_tasks import UnreadableError, tasks, tool_files, tool_info

TASK = "Task(user_id='u', instruction='i', actions=[], outputs=[])"
RAISES = "raise RuntimeError('run')\n"
INFO = (
    "{'type': 'function', 'function': {'name': 'n', 'description': ('a ' 'b'), 'parameters': {}}}"
)


def test_tasks_are_read_with_their_actions_and_without_their_annotator():
    text = (
        RAISES + "tasks = []\nTASKS: list = [Task(annotator='7', user_id='u', instruction='a'\n"
        "'b', actions=[Action(name='n', kwargs={'x': [1, -2.5, {'y': None}], 'z': True})],\n"
        "outputs=['10'])]\n"
    )
    assert tasks(text, "f.py") == [
        {
            "user_id": "u",
            "instruction": "ab",
            "actions": [{"name": "n", "kwargs": {"x": [1, -2.5, {"y": None}], "z": True}}],
            "outputs": ["10"],
        }
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("TASKS = [", "no Python"),
        ("TASKS = [\0]", "no Python"),
        ("TASKS = " + "[" * 300 + "]" * 300, "no Python"),
        ("tasks = []", "assigns nothing to TASKS"),
        ("TASKS = 3", "no list"),
        ("TASKS = [3]", r"TASKS\[0\] in f\.py is no task"),
        (f"TASKS = [{TASK}, Task(user_id='u')]", r"TASKS\[1\].* lacks instruction, actions"),
        (f"TASKS = [{TASK.replace(chr(39) + 'u' + chr(39), '3')}]", "not made as"),
        (f"TASKS = [{TASK.replace('actions=[]', 'actions=[{}]')}]", "not made as"),
        (f"TASKS = [{TASK.replace('outputs=[]', 'outputs=[1]')}]", "not made as"),
        ("TASKS = [\n Task(user_id=open('x').read())]", r"line 2: this call has to be run"),
        ("TASKS = [Task('u')]", "has to be run"),
        ("TASKS = [Task(**known)]", "has to be run"),
        ("TASKS = [os.Task(user_id='u')]", "has to be run"),
        ("TASKS = [known]", "no plain value"),
        (f"TASKS = [{'-' * 900}1]", "no plain value"),
        ("TASKS = [t for t in known]", "no plain value"),
        ("TASKS = [Task(user_id={**known})]", "no plain value"),
        ("TASKS = [Task(user_id=b'u')]", "no JSON value"),
    ],
)
def test_what_is_no_data_is_refused_with_its_place(text, complaint):
    with pytest.raises(UnreadableError, match=complaint) as refusal:
        tasks(RAISES + text if "line" not in complaint else text, "f.py")
    assert "f.py" in str(refusal.value)


def test_tools_come_in_the_order_of_their_list():
    text = f"from .b import One\nfrom .a import Two\n{RAISES}ALL_TOOLS = [Two, One]\n"
    assert tool_files(text, "f.py") == ["a", "b"]


@pytest.mark.parametrize("text", ["", "ALL_TOOLS = [One]", "ALL_TOOLS = found()"])
def test_a_list_of_tools_that_cannot_be_followed_is_refused(text):
    with pytest.raises(UnreadableError, match="ALL_TOOLS"):
        tool_files(text, "f.py")


def test_a_tool_is_described_by_what_its_get_info_returns():
    text = f"{RAISES}class It:\n    def get_info():\n        return {INFO}\n"
    assert tool_info(text, "f.py")["function"] == {
        "name": "n",
        "description": "a b",
        "parameters": {},
    }


@pytest.mark.parametrize("returned", ["{}", "{'function': {'name': 'n'}}", "describe()", "3"])
def test_a_tool_without_a_description_is_refused(returned):
    with pytest.raises(UnreadableError, match=r"f\.py"):
        tool_info(f"def get_info():\n    return {returned}\n", "f.py")
