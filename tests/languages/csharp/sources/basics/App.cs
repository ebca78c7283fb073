using System;
using Lib.Shapes;
using Round = Lib.Shapes.Circle;
using static Lib.Tools;

namespace App
{
    class Main
    {
        private readonly IShape shape = new Circle(1);

        void Run(Shape given)
        {
            shape.Area();
            // -> Shapes.cs#IShape.Area [receiver_type]
            // ?> Shapes.cs#Circle.Area
            // -/> Shapes.cs#Lookalike.Area
            given.Draw();
            // -> Shapes.cs#Shape.Draw
            // ?> Shapes.cs#Circle.Draw
            var made = new Round(2);
            // -> Shapes.cs#Circle
            // -> Shapes.cs#Circle.Circle [constructor]
            made.Draw();
            // -> Shapes.cs#Circle.Draw [receiver_type]
            Lib.Shapes.Circle other = new(3);
            // -> Shapes.cs#Circle.Circle
            other.Twice();
            // -> Shapes.cs#IShape.Twice [hierarchy]
            Trim("x");
            // -> Tools.cs#Tools.Trim
            Lib.Tools.Trim("x");
            // -> Tools.cs#Tools.Trim
            Console.WriteLine("x");
            // x> System.Console.WriteLine
            if (given is Circle { } round && round.Area() > 0) { }
            // -> Shapes.cs#Circle.Area
            switch (given)
            {
                case Circle c when c.Area() > 1:
                    // -> Shapes.cs#Circle.Area
                    c.Draw();
                    // -> Shapes.cs#Circle.Draw
                    break;
            }
            int Local(int q) => Helper(q);
            // -> App.cs#Main.Helper
            Local(2);
            // -> App.cs#Main.Run.Local [lexical]
            Action later = () => Helper(1);
            // -> App.cs#Main.Helper
        }

        static int Helper(int q) => q;

        void Unknown(dynamic thing)
        {
            thing.Area();
            // -/> Shapes.cs#IShape.Area
            // -/> Shapes.cs#Lookalike.Area
            // ?? dynamic
        }
    }
}
