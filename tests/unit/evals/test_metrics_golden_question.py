from kebab.evals.metrics import Question


def test_relevant_documents_are_the_named_one_and_the_graded_ones():
    question = Question(id="1", text="q", doc="a.md", relevant={"b.md": 2, "c.md": 0})

    assert question.documents == ["a.md", "b.md"]


def test_without_a_named_document_the_grades_decide():
    assert Question(id="1", text="q", relevant={"b.md": 1}).documents == ["b.md"]
