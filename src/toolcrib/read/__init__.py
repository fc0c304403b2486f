"""The stage `read`: what a model wrote, made into arguments that fit the tool, or a text that says how to mend them."""
