// Namespaces, interfaces with default members, inheritance, base calls.
namespace Lib.Shapes;

public interface IShape
{
    double Area();

    double Twice() => Area() * 2;
    // -> Shapes.cs#IShape.Area [receiver_type]
    // ?> Shapes.cs#Circle.Area
}

public abstract class Shape : IShape
{
    protected Shape(string name) { }

    public abstract double Area();

    public virtual void Draw() { }

    protected void Log(string text) { }
}

public class Circle : Shape
{
    public Circle(double radius) : base("circle")
    // -> Shapes.cs#Shape.Shape
    {
        Log("made");
        // -> Shapes.cs#Shape.Log [hierarchy]
    }

    public override double Area() => 1;

    public override void Draw()
    {
        base.Draw();
        // -> Shapes.cs#Shape.Draw
        // -/> Shapes.cs#Circle.Draw
    }
}

public class Lookalike
{
    public double Area() => 0;
}
