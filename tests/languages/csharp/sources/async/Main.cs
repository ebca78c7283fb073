// Awaiting opens Task<T>; nullable types are seen through.
using System.Threading.Tasks;

class Row
{
    public void Use() { }
}

class Repo
{
    public Task<Row> Find() => Task.FromResult(new Row());

    public async Task<Row?> Maybe()
    {
        var row = await Find().ConfigureAwait(false);
        // -> Main.cs#Repo.Find
        row.Use();
        // -> Main.cs#Row.Use
        return row;
    }

    public async Task Run(Row? given)
    {
        (await Maybe())?.Use();
        // -> Main.cs#Repo.Maybe
        // -> Main.cs#Row.Use
        given!.Use();
        // -> Main.cs#Row.Use
        Find().Result.Use();
        // -> Main.cs#Row.Use
    }
}
