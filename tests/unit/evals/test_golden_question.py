from kebab.evals.golden import Question


def test_its_documents_are_the_one_it_names_and_those_with_a_grade():
    question = Question(id="1", text="q", doc="a.md", relevant={"b.md": 2, "c.md": 0})

    assert question.documents == ["a.md", "b.md"]


def test_without_a_document_of_its_own_the_grades_tell():
    assert Question(id="1", text="q", relevant={"b.md": 1}).documents == ["b.md"]
