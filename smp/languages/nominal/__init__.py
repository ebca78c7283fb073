"""What languages with declared types, classes and overloads share (Java, C#): nodes, names in scope, calls, packages."""
