"""Search: from a person's words to ranked passages with their evidence.

Every stage is a module: a query becomes an expression (`parse`), two channels rank (`lexical`,
`vector`), one order comes of both (`fuse`), scores get a meaning (`calibrate`), passages are cut
(`snippet`) and counted (`budget`). `engine` runs them in turn and sees ports only. Words are cut
by `kebab.text.tokenizer`.
"""
