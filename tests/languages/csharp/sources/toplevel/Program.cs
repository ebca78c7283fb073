var job = Make();
// -> Program.cs#Make
job.Run();
// -> Job.cs#Job.Run

Job Make()
{
    return new Job();
    // -> Job.cs#Job
}
