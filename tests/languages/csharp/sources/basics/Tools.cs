namespace Lib;

static class Tools
{
    public static string Trim(string text) => text;
}
