"""Results of the benchmark `engines.py`: tables, goals and JSON data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Goal:
    """Value that must be at least or at most `bound`."""

    text: str
    value: float
    bound: float
    at_least: bool = True

    @property
    def is_met(self) -> bool:
        """True if the value is within its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


@dataclass
class Section:
    """Results of one section. `problems` are failed launches and wrong results."""

    title: str
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    goals: list[Goal] = field(default_factory=list[Goal])
    problems: list[str] = field(default_factory=list[str])

    @property
    def passed(self) -> bool:
        """True if all goals are met and no problem occurred."""
        return not self.problems and all(goal.is_met for goal in self.goals)

    def column(self, name: str) -> list[float]:
        """Return the values of a column."""
        return [row[name] for row in self.rows if name in row]

    def demand(self, name: str, bound: float, *, at_least: bool = True, text: str = "") -> None:
        """Add goals for the geometric mean and the worst value of a column.

        `text` replaces the name of the column.
        """
        self.demand_mean(name, bound, at_least=at_least, text=text)
        self.demand_each(name, bound, at_least=at_least, text=text)

    def demand_mean(self, name: str, bound: float, *, at_least: bool = True, text: str = "") -> None:
        """Add a goal for the geometric mean of a column of ratios."""
        values = self.column(name)
        if values:
            mean = float(np.exp(np.mean(np.log(values))))
            self.goals.append(Goal(f"{text or name}, geometric mean", mean, bound, at_least))

    def demand_each(self, name: str, bound: float, *, at_least: bool = True, text: str = "") -> None:
        """Add a goal for the worst value of a column."""
        rows = [row for row in self.rows if name in row]
        if rows:
            worst = (min if at_least else max)(rows, key=lambda row: row[name])
            kernel = next(iter(worst.values()))
            self.goals.append(Goal(f"{text or name}, worst ({kernel})", worst[name], bound, at_least))

    def print(self, console: Console) -> None:
        """Print the table, the goals and the problems."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        table = Table(title=self.title)
        for i, name in enumerate(names):
            table.add_column(name, justify="right" if i else "left")
        for row in self.rows:
            table.add_row(*(_cell(row.get(name, "")) for name in names))
        console.print(table)
        for goal in self.goals:
            word, mark = "at least" if goal.at_least else "at most", "met" if goal.is_met else "missed"
            console.print(f"{goal.text}: {_cell(goal.value)}, {word} {goal.bound:g} wanted: {mark}")
        for problem in self.problems:
            console.print(problem, style="bold red")

    def data(self) -> dict[str, Any]:
        """Return the results as JSON data."""
        goals = [
            {"text": g.text, "value": g.value, "bound": g.bound, "at_least": g.at_least, "met": g.is_met}
            for g in self.goals
        ]
        return {"title": self.title, "rows": self.rows, "goals": goals, "problems": self.problems}


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
