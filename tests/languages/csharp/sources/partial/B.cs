namespace P;

public partial class Store
{
    private void Encode() { }

    public void Load() { Save(); }
    // -> A.cs#Store.Save
}

class Other
{
    public void Save() { }

    void Use(Store store)
    {
        store.Load();
        // -> B.cs#Store.Load
        store.Save();
        // -> A.cs#Store.Save
        // -/> B.cs#Other.Save
    }
}
