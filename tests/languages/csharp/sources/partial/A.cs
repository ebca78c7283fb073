namespace P;

public partial class Store
{
    public void Save() { Encode(); }
    // -> B.cs#Store.Encode
}
