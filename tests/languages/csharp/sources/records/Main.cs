// Records and primary constructors; generics with constraints.
record Point(int X, Axis Axis);

class Axis
{
    public void Turn() { }
}

class Service(Axis axis)
{
    public void Run()
    {
        axis.Turn();
        // -> Main.cs#Axis.Turn
    }
}

class Box<T> where T : Axis
{
    private T item;

    public T Get() => item;

    public void Spin()
    {
        item.Turn();
        // -> Main.cs#Axis.Turn
    }
}

class FineAxis : Axis
{
    public void Fine() { }
}

class Main
{
    void Run(Point point, Box<FineAxis> box)
    {
        point.Axis.Turn();
        // -> Main.cs#Axis.Turn
        box.Get().Fine();
        // -> Main.cs#FineAxis.Fine
        (point with { X = 1 }).Axis.Turn();
        // -> Main.cs#Axis.Turn
    }
}
