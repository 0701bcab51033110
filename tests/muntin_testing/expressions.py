"""Texts where an expression is asked for: some would leave their place, some only look like it.

The table has `v` (0, 1, 2, …) and `word`, a text. Every text of MEANS_V_ABOVE_1 means `v > 1`; no
text of ESCAPES is one expression.
"""

ESCAPES = (
    "v > 0) OR (true",
    "1=0) THEN 99 WHEN (1=1",
    "v > 0) AS x, (v",
    "v > 0 --\n) OR (true",
    "v > 0 -- goes on \\",
    "v > 0 /*",
    "v > 0) /*",
    "v > 0) --",
    "v > 0 /* /* */",
    "v > 0 /*+ ) OR (true */",
    "(v > 0",
    "v > 0]",
    "array(v][0) > 0",
    "v > 0; SELECT 1",
    "v > 0;",
    "word = 'x) OR (true",
    'word = "x',
    "`v > 0",
    "word = 'it\\' OR v > 0",
    "v > 0 THEN 1 ELSE 99",
    "v ELSE 99",
    "v, v",
    "v > 0 WHERE true",
    "v > 0 UNION SELECT 1",
    "v FROM x",
    "SELECT true",
    "-- nothing",
    "/* nothing */",
    "v >",
    "v v v",
    "v > ?",
    "v > :p",
    "v > {p}",
    "{v",
)

ALIASED = ("v END", "v AS x")
"""What Spark alone reads as an expression: one under another name, which changes nothing."""

MEANS_V_ABOVE_1 = (
    "v > 1 -- (",
    "v > 1 -- ' and ` and /*",
    "v > 1 -- \\\n AND this is still a comment",
    "v > 1 /* ) OR (true */",
    "v > 1 /* ' */",
    "v > 1 /* /* ) nested */ ( */",
    "v > 1 AND word <> ')'",
    "v > 1 AND word <> '(' AND word <> ';'",
    "v > 1 AND word <> '--' AND word <> '/*'",
    "v > 1 AND word <> '\\') OR (true'",
    "v > 1 AND word <> 'it''s)'",
    'v > 1 AND word <> "\')"',
    "v > 1 AND word <> r'\\'",
    "(v > 1\n-- the end of a line\n)",
    "`v` > 1",
    "v::int > 1",
    "CAST(v AS INT) > 1",
    "CASE WHEN v > 1 THEN true ELSE false END",
    "exists(array(v), x -> x > 1)",
    "array(v, 0)[0] > 1",
    "v BETWEEN 2 AND 1000",
    "NOT v <=> 0 AND v <> 1",
    "v > 1 OR false",
    "if(v > 1, true, false)",
)

WORDS = (
    *("v", "word", "1", " ", "\n", "(", ")", "[", "]", "'", '"', "`", "\\", "--", "/*", "*/"),
    *(
        ";",
        "r'",
        "''",
        "'x'",
        "`v`",
        " > ",
        " AND ",
        "f(",
        ",",
        "\\'",
        "/",
        "*",
        "-- x\n",
        "/* ' */",
    ),
)
"""What random texts are made of."""
