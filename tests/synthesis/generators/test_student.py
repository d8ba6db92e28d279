import torch

from discreet.synthesis.generators.student import StudentDiscriminator
from discreet.synthesis.generators.table_network import one_hot


def test_a_student_learns_what_was_answered():
    random = torch.Generator().manual_seed(0)
    student = StudentDiscriminator(9, random)
    codes = torch.stack([torch.randint(cells, (300,), generator=random) for cells in (3, 2, 4)], dim=1)
    rows, answers = one_hot(codes, (3, 2, 4)), (codes[:, 0] == codes[:, 1]).float()
    for _ in range(3):
        student.learn(rows, answers, 100)
    assert ((student.logits(rows) > 0) == answers.bool()).float().mean() > 0.95


def test_it_is_a_function_of_answers_and_a_seed():
    found = []
    for _ in range(2):
        student = StudentDiscriminator(9, torch.Generator().manual_seed(1))
        student.learn(torch.eye(9), torch.arange(9).remainder(2).float(), 20)
        found.append(student.logits(torch.eye(9)))
    assert torch.equal(*found)
