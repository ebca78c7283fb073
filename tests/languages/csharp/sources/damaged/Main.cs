// One broken method costs no other; conditional compilation in the middle of a declaration does not either.
class Main
{
    void Whole() { Other(); }
    // -> Main.cs#Main.Other

    void Broken() { if ( { x.; }

    void Other() { Last(); }
    // -> Main.cs#Main.Last

    void Last() { }
}
