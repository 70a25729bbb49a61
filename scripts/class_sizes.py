# SPDX-License-Identifier: Apache-2.0
"""Member functions and data members of C++ classes, counted in their declarations."""
import re

NESTED = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)[^;(){}]*\{")


def without_comments(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', '""', text)


def closing(text, start):
    """The position behind the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)


def without_arguments(declaration):
    """Template arguments may hold parentheses and commas."""
    while (shorter := re.sub(r"<[^<>]*>", "", declaration)) != declaration:
        declaration = shorter
    return declaration


def declarations(body):
    """The declarations of a class, without the bodies of functions and of nested types."""
    at, begin, found = 0, 0, []
    text = ""
    while at < len(body):
        if body[at] == "{":
            end = closing(body, at)
            is_type = re.search(r"\b(class|struct|union|enum)\s+\w+[^()]*$", text)
            is_function = "(" in without_arguments(text).split("=")[0] and not is_type
            at = end
            if is_function and not re.match(r"\s*[,{]", body[at:]):
                found.append(text)
                text = ""
            elif is_type:
                text = ""
            continue
        if body[at] == ";":
            found.append(text)
            text = ""
        else:
            text += body[at]
        at += 1
    return found


def count(body):
    functions = fields = 0
    for text in declarations(body):
        text = re.sub(r"\b(public|private|protected)\s*:(?!:)", " ", text)
        text = without_arguments(re.sub(r"\[\[.*?\]\]", " ", text)).replace("template", " ").strip()
        if not text or re.match(r"(using|friend|typedef|static_assert|static\s+constexpr|US_\w+)\b", text):
            continue
        declared = re.split(r"(?<![=!<>])=(?!=)", text)[0] if "operator" not in text else text
        if "(" in declared:
            functions += 1
        elif re.search(r"\w\s+[*&]*\s*\w+|[*&]\s*\w+", declared):
            fields += 1 + re.sub(r"\([^()]*\)", "", text).count(",")
    return functions, fields


def class_sizes(text):
    """(name, bases, member functions, data members) of each class of a header or source file."""
    text = without_comments(text)
    for found in NESTED.finditer(text):
        if found.group(0).startswith("enum"):
            continue
        bases = re.findall(r"\w+", found.group(0).split(":", 1)[1]) if ":" in found.group(0) else []
        start = found.end() - 1
        yield (found.group(1), bases, *count(text[start + 1:closing(text, start) - 1]))
