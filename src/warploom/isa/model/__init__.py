"""Model of a PTX instruction: the Form, its operands, its effects and its semantics."""
