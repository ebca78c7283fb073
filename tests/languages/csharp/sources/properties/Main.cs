// Properties that are code are called; plain ones are not. Indexers, operators, events, using, foreach.
using System;
using System.Collections.Generic;

class Money : IDisposable
{
    private int cents;

    public int Cents { get; set; }

    public int Euros
    {
        get { return cents / 100; }
        set { cents = Check(value); }
        // -> Main.cs#Money.Check
    }

    public Money Half => new Money();

    public static Money Zero => new Money();

    public Money this[int at] => this;

    public event EventHandler<Money>? Changed;

    private int Check(int v) => v;

    public static Money operator +(Money a, Money b) => a;

    public static Money operator -(Money a) => a;

    public void Show(object? sender, Money args) { }

    public void Dispose() { }
}

interface IRange
{
    object To { get; }
}

class Range : IRange
{
    public int To { get; }

    object IRange.To => To;

    void Run(IRange other)
    {
        var end = To;
        // -/> Main.cs#Range.To~2
        var far = other.To;
        // -> Main.cs#IRange.To [property]
    }
}

class User
{
    private Money own = new();
    // -> Main.cs#Money

    void Run(Money money, List<Money> many)
    {
        var e = money.Euros;
        // -> Main.cs#Money.Euros [property]
        // -/> Main.cs#Money.Euros~2
        money.Euros = 3;
        // -> Main.cs#Money.Euros~2 [property]
        // -/> Main.cs#Money.Euros
        var c = money.Cents;
        // -/> Main.cs#Money.Cents
        money.Half.Show(null, money);
        // -> Main.cs#Money.Half [property]
        // -> Main.cs#Money.Show
        Money.Zero.Show(null, money);
        // -> Main.cs#Money.Zero [property]
        // -> Main.cs#Money.Show
        money[1].Show(null, money);
        // -> Main.cs#Money.this[]
        // -> Main.cs#Money.Show
        var sum = money + own;
        // -> Main.cs#Money.operator+ [protocol]
        sum.Show(null, money);
        // -> Main.cs#Money.Show
        money.Changed += own.Show;
        // => Main.cs#Money.Show
        using (var m = new Money())
        // -> Main.cs#Money.Dispose [protocol]
        {
            m.Show(null, m);
            // -> Main.cs#Money.Show
        }
        foreach (var one in many)
        {
            one.Show(null, one);
            // -> Main.cs#Money.Show
        }
        many[0].Show(null, money);
        // -> Main.cs#Money.Show
        var set = new Money { Euros = 5 };
        // -> Main.cs#Money.Euros~2 [property]
        money?.Half?.Show(null, money);
        // -> Main.cs#Money.Show
    }
}
