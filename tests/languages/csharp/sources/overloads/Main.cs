// Overloads: by number, by types, by name; undecided ones are candidates, never an edge.
class Base
{
    public void Put(object value) { }
}

class Sink : Base
{
    public void Put(int value) { }

    public void Put(string value) { }

    public void Put(string value, int count) { }

    public void All(params string[] values) { }

    public void Opt(int a, int b = 2, string c = "") { }
}

class Main
{
    void Run(Sink sink, dynamic unknown)
    {
        sink.Put(1);
        // -> Main.cs#Sink.Put
        // -/> Main.cs#Sink.Put~2
        sink.Put("x");
        // -> Main.cs#Sink.Put~2
        // -/> Main.cs#Sink.Put
        sink.Put("x", 1);
        // -> Main.cs#Sink.Put~3
        sink.Put(sink);
        // -> Main.cs#Base.Put
        // -/> Main.cs#Sink.Put
        sink.Put(unknown);
        // ?> Main.cs#Sink.Put
        // ?> Main.cs#Sink.Put~2
        // -/> Main.cs#Sink.Put
        // -/> Main.cs#Sink.Put~3
        sink.All("a", "b", "c");
        // -> Main.cs#Sink.All
        sink.Opt(1, c: "x");
        // -> Main.cs#Sink.Opt
    }
}
