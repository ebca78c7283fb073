interface IFace
{
    void First()
#if DEFAULTS
    {
        Second();
        // -> Conditional.cs#IFace.Second
    }
#else
    ;
#endif
    void Second();
}
