/* The page of `tracebake analyze --report`, section by section. */
"use strict";

addHead();
notes();
tiles();
addCache();
addTurns();
addLengths("prompt_length", "prompt", "Prompt tokens",
    "Decides the longest context to serve, and which agents are worth a " +
    "server of their own: the share of rows that are at least so long.");
addLengths("new_length", "new", "New tokens",
    "Decides how much prefill a call leaves when a cache without limits " +
    "serves the rest: the share of rows with at least so many new tokens.");
addLengths("output_length", "output", "Output tokens",
    "Decides the most tokens to allow an answer, and how long a call holds " +
    "its place in a batch: the share of rows with answers at least so long.");
addTimes();
addGaps();
if (calls)
    addCalls();
addBlockSizes();
addPrefixes();
addGroups("agents", "Agents",
    "Decides which agents gain from a cache, and which to route apart.",
    figures.agents, curves.agents);
addGroups("priorities", "Priorities",
    "Decides whether what is urgent is also what is short.",
    figures.priorities, curves.priorities);

window.matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change", () => charts.filter((chart) => chart.plot).forEach(draw));
window.addEventListener("beforeprint", () => charts.forEach(drawn));
measure();
charts.slice(0, FIRST_SEEN).forEach(draw);
setTimeout(drawRest);
