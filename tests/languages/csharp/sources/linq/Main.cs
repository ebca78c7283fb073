// Elements of collections through LINQ; contextual types of lambdas.
using System;
using System.Collections.Generic;
using System.Linq;

class Item
{
    public Item Next() => this;

    public bool Ok() => true;
}

class Wrong
{
    public bool Ok() => false;
}

delegate void Handler(Item item);

class Main
{
    private readonly Dictionary<string, Item> named = new();

    static void Each(Action<Item> action) { }

    static void On(Handler handler) { }

    void Run(List<Item> items, IEnumerable<Item> many)
    {
        items.Where(i => i.Ok()).First().Next();
        // -> Main.cs#Item.Ok
        // -> Main.cs#Item.Next
        // -/> Main.cs#Wrong.Ok
        many.Select(i => i.Next()).ToList().ForEach(n => n.Ok());
        // -> Main.cs#Item.Next
        // -> Main.cs#Item.Ok
        named["x"].Next();
        // -> Main.cs#Item.Next
        foreach (var pair in named)
        {
            pair.Value.Ok();
            // -> Main.cs#Item.Ok
        }
        foreach (var value in named.Values)
        {
            value.Ok();
            // -> Main.cs#Item.Ok
        }
        Each(i => i.Ok());
        // -> Main.cs#Item.Ok
        // -> Main.cs#Main.Each
        On(i => i.Next());
        // -> Main.cs#Item.Next
        var found = from i in items where i.Ok() select i;
        // -> Main.cs#Item.Ok
    }
}
