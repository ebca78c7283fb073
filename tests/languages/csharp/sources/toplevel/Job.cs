class Job
{
    public void Run() { }
}
