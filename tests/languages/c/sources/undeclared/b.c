int use(void) {
    return helper(1);
    // -/> a.c#helper
    // ?> a.c#helper
    // ?? not_in_imports
}
