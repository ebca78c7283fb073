// Extension methods: of own types, of types from outside, only where their namespace is seen.
using System.Collections.Generic;
using Ext;

namespace App
{
    class Cat
    {
        public void Speak() { }

        public void Purr() { }
    }

    class Dog { }

    class Main
    {
        void Run(Cat cat, Dog dog, string text, List<Cat> cats)
        {
            cat.Twice(2).Speak();
            // -> Main.cs#CatExtensions.Twice
            // -> Main.cs#Cat.Speak
            cat.Purr();
            // -> Main.cs#Cat.Purr
            // -/> Main.cs#CatExtensions.Purr
            text.Shorten();
            // -> Main.cs#TextExtensions.Shorten
            cats.Shuffle();
            // -> Main.cs#ListExtensions.Shuffle
            dog.Twice(1);
            // -/> Main.cs#CatExtensions.Twice
        }
    }
}

namespace Ext
{
    using App;

    static class CatExtensions
    {
        public static Cat Twice(this Cat cat, int times) => cat;

        public static void Purr(this Cat cat) { }
    }

    static class TextExtensions
    {
        public static string Shorten(this string text) => text;
    }

    static class ListExtensions
    {
        public static void Shuffle<T>(this IList<T> list) { }
    }
}
