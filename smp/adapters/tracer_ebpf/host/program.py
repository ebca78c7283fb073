"""The kernel's side of the tracer: one probe that sees every Python function begin, and two that see processes come and go.

The probe sits on a few bytes of machine code that traced interpreters run before each frame (docs/tracing.md), so what
reaches it is (thread state, new frame, thrown flag). Everything is decided here and only sums leave the kernel: is the
new frame a function of the checkout, who is the nearest frame of the checkout above it. Names are read when a code
object is first seen, so a process may be gone before anybody looks.

An image is a process between two execs; its number is made of time and pid and never comes again. A code object is
known by its address, its version (unique in an interpreter) and its image, because addresses are used again.
"""

SOURCE = r"""
#include <uapi/linux/ptrace.h>

#define TEXT 256
#define WALK 96                     /* frames looked at in one run; tail calls continue, 33 times at most */
#define OUTSIDE 1
#define FUNCTION 2                  /* of the checkout */
#define BODY 3                      /* of a module or class of the checkout: may call, is not called */
#define GENERATORS (0x20 | 0x80 | 0x200)
#define OPTIMIZED 1
#define OWNED_BY_GENERATOR 1
#define OWNED_BY_C_STACK 3
enum { LOST_EDGES, LOST_NAMES, LOST_UNREADABLE, LOST_DEEP };

struct frame { u64 code, previous, unused[5], instruction; u32 top; u16 skip; u8 owner, pad; };
struct head { u32 flags, unused[4], line, more[5], version; };     /* of a code object, from byte 48 on */
struct process { u64 image; u32 box, seen; };
struct image { u32 box, pid, executed, seen, interpreter; char name[16]; };
struct code { u64 address, image; u32 version, pad; };
struct edge { u64 caller, callee, image; u32 caller_version, callee_version; };
struct names {
    u32 line; u16 file_bytes, name_bytes; u8 file_kind, name_kind, cut, pad; u32 more;
    char file[TEXT + 16]; char name[TEXT];
};
struct walk { u64 next, callee, image; u32 callee_version, box; };
struct reason { u32 box, why; };

BPF_HASH(groups, u64, u32, 1024);                                   /* control group -> box */
BPF_HASH(processes, u32, struct process, 65536);
BPF_F_TABLE("hash", u64, struct image, images, 65536, 1);
BPF_F_TABLE("lru_hash", struct code, u32, kinds, 131072, 0);
BPF_F_TABLE("hash", struct code, struct names, names, 131072, 1);
BPF_F_TABLE("percpu_hash", struct edge, u64, edges, 524288, 1);
BPF_F_TABLE("hash", u64, struct walk, walks, 16384, 1);             /* thread -> a walk to be continued */
BPF_HASH(lost, struct reason, u64, 4096);
BPF_ARRAY(blank, struct names, 1);
BPF_PROG_ARRAY(programs, 2);

static __always_inline void lose(u32 box, u32 why) {
    struct reason key = {.box = box, .why = why};
    u64 zero = 0, *count = lost.lookup_or_try_init(&key, &zero);
    if (count) __sync_fetch_and_add(count, 1);
}

static __always_inline u64 begin_image(u32 pid, u32 box, u32 executed) {
    u64 image = (bpf_ktime_get_ns() >> 10 << 22) | (pid & 0x3fffff);
    struct process process = {.image = image, .box = box, .seen = !executed};
    struct image made = {.box = box, .pid = pid, .executed = executed, .seen = !executed};
    bpf_get_current_comm(&made.name, sizeof(made.name));
    processes.update(&pid, &process);
    images.update(&image, &made);
    return image;
}

RAW_TRACEPOINT_PROBE(sched_process_exec) {
    u64 group = bpf_get_current_cgroup_id();
    u32 *box = groups.lookup(&group);
    if (box) begin_image(bpf_get_current_pid_tgid() >> 32, *box, 1);
    return 0;
}

RAW_TRACEPOINT_PROBE(sched_process_exit) {
    u64 id = bpf_get_current_pid_tgid();
    u32 pid = id >> 32;
    if (pid == (u32)id) processes.delete(&pid);
    return 0;
}

/* An interpreter begins, whatever the name of the program is. */
int on_main(struct pt_regs *ctx) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    struct process *process = processes.lookup(&pid);
    if (!process) return 0;
    u64 number = process->image;
    struct image *image = images.lookup(&number);
    if (image) image->interpreter = 1;
    return 0;
}

/* A str: length at 16, kind and compactness at 32, characters at 40 when all are ASCII, else at 56. */
static __always_inline int read_text(u64 text, u64 *data, u64 *bytes, u8 *kind) {
    u64 length = 0; u32 state = 0;
    if (bpf_probe_read_user(&length, 8, (void *)(text + 16))) return -1;
    if (bpf_probe_read_user(&state, 4, (void *)(text + 32))) return -1;
    *kind = (state >> 2) & 7;
    *data = text + (state & 64 ? 40 : 56);
    *bytes = length * *kind;
    return 0;
}

/* 0: a path that begins like the checkout, or a relative one. */
static __always_inline int is_elsewhere(u64 text) {
    u64 data = 0, bytes = 0, start[3] = {}; u8 kind = 0;
    if (read_text(text, &data, &bytes, &kind)) return -1;
    if (!bytes) return OUTSIDE;
    bpf_probe_read_user(&start, bytes < 24 ? 8 : 24, (void *)data);
    if ((start[0] & 0xff) == '<') return OUTSIDE;
    if ((start[0] & 0xff) != '/') return 0;
    if (kind == 1) return (start[0] & 0xffffffffffffULL) == 0x2f6b726f772fULL ? 0 : OUTSIDE;     /* /work/ */
    if (kind == 2) return start[0] == 0x0072006f0077002fULL && (u32)start[1] == 0x002f006b ? 0 : OUTSIDE;
    return start[0] == 0x000000770000002fULL && start[1] == 0x000000720000006fULL
        && start[2] == 0x0000002f0000006bULL ? 0 : OUTSIDE;
}

static __always_inline int is_foreign(struct names *entry) {
    for (int at = 0; at < TEXT; at++) {
        if (entry->file[at] != '/') continue;
        u64 part = *(u64 *)(entry->file + at);
        u64 rest = *(u64 *)(entry->file + at + 8) & 0xffffffffffffffULL;
        if (part == 0x61702d657469732fULL && rest == 0x2f736567616b63ULL) return 1;              /* /site-packages/ */
        if ((part & 0xffffffffffffffULL) == 0x2f766e65762e2fULL) return 1;                       /* /.venv/ */
        if (part == 0x6f6d5f65646f6e2fULL && (rest & 0xffffffffffffULL) == 0x2f73656c7564ULL) return 1; /* /node_modules/ */
    }
    return 0;
}

/* Reads the names of a code object; what it is. */
static __always_inline u32 learn(struct code *key, u32 box) {
    u64 file = 0, name = 0, data = 0, bytes = 0;
    u32 zero = 0, kind = OUTSIDE;
    struct names *none = blank.lookup(&zero);
    if (!none) return OUTSIDE;
    struct names *entry = names.lookup_or_try_init(key, none);
    if (!entry) { lose(box, LOST_NAMES); return OUTSIDE; }
    struct head head = {};
    if (bpf_probe_read_user(&head, sizeof(head), (void *)(key->address + 48))
        || bpf_probe_read_user(&file, 8, (void *)(key->address + 112))
        || bpf_probe_read_user(&name, 8, (void *)(key->address + 128))
        || read_text(file, &data, &bytes, &entry->file_kind)) goto unreadable;
    if (bytes > TEXT - 1) { entry->cut = 1; bytes = TEXT - 1; }
    entry->file_bytes = bytes;
    if (bpf_probe_read_user(entry->file, bytes & (TEXT - 1), (void *)data)) goto unreadable;
    if (entry->file_kind == 1 && is_foreign(entry)) {
        names.delete(key);
    } else {
        if (read_text(name, &data, &bytes, &entry->name_kind)) goto unreadable;
        if (bytes > TEXT - 1) { entry->cut = 1; bytes = TEXT - 1; }
        entry->name_bytes = bytes;
        if (bpf_probe_read_user(entry->name, bytes & (TEXT - 1), (void *)data)) goto unreadable;
        entry->line = head.line;
        kind = head.flags & OPTIMIZED ? FUNCTION : BODY;
    }
    kinds.update(key, &kind);
    return kind;
unreadable:
    names.delete(key);
    lose(box, LOST_UNREADABLE);
    return OUTSIDE;
}

/* 0: it has to be learnt. */
static __always_inline u32 kind_of(struct code *key, u32 box) {
    u32 *known = kinds.lookup(key);
    if (known) return *known;
    u64 file = 0;
    int elsewhere = -1;
    if (!bpf_probe_read_user(&file, 8, (void *)(key->address + 112))) elsewhere = is_elsewhere(file);
    if (!elsewhere) return 0;
    u32 kind = OUTSIDE;
    if (elsewhere > 0) kinds.update(key, &kind);
    else lose(box, LOST_UNREADABLE);
    return OUTSIDE;
}

static __always_inline void count(struct walk *walk, struct code *caller) {
    struct edge edge = {.caller = caller->address, .callee = walk->callee, .image = walk->image,
        .caller_version = caller->version, .callee_version = walk->callee_version};
    u64 zero = 0, *calls = edges.lookup_or_try_init(&edge, &zero);
    if (calls) __sync_fetch_and_add(calls, 1);
    else lose(walk->box, LOST_EDGES);
}

/* Counts the call under the nearest frame of the checkout; 1 when the walk has to be continued. */
static __always_inline int find_caller(struct walk *walk) {
    struct code key = {.image = walk->image};
    u32 kind = OUTSIDE;
    for (int at = 0; at < WALK; at++) {
        struct frame frame = {};
        if (!walk->next) return 0;                     /* nobody in the checkout asked for this call */
        if (bpf_probe_read_user(&frame, sizeof(frame), (void *)walk->next)) {
            lose(walk->box, LOST_UNREADABLE);
            return 0;
        }
        walk->next = frame.previous;
        if (frame.owner == OWNED_BY_C_STACK) continue;
        key.address = frame.code;
        if (bpf_probe_read_user(&key.version, 4, (void *)(frame.code + 92))) continue;
        kind = kind_of(&key, walk->box);
        if (kind != OUTSIDE) break;
    }
    if (!kind) kind = learn(&key, walk->box);
    if (kind == OUTSIDE) return walk->next != 0;
    count(walk, &key);
    return 0;
}

static __always_inline int walk_on(struct pt_regs *ctx, struct walk *walk) {
    u64 thread = bpf_get_current_pid_tgid();
    if (!find_caller(walk)) { walks.delete(&thread); return 0; }
    if (!walks.update(&thread, walk)) programs.call(ctx, 0);
    lose(walk->box, LOST_DEEP);
    walks.delete(&thread);
    return 0;
}

int on_walk(struct pt_regs *ctx) {
    u64 thread = bpf_get_current_pid_tgid();
    struct walk *found = walks.lookup(&thread);
    if (!found) return 0;
    struct walk walk = *found;
    return walk_on(ctx, &walk);
}

/* Whether a generator takes its first step: the last thing it did is making itself. */
static __always_inline int begins(u64 instruction, u8 make_generator) {
    u8 last = 0;
    bpf_probe_read_user(&last, 1, (void *)instruction);
    return last == make_generator;
}

static __always_inline int on_frame(struct pt_regs *ctx, int version) {
    u32 pid = bpf_get_current_pid_tgid() >> 32;
    struct walk walk = {};
    struct process *process = processes.lookup(&pid);
    if (process) {
        walk.image = process->image;
        walk.box = process->box;
        if (!process->seen) {
            process->seen = 1;
            struct image *image = images.lookup(&walk.image);
            if (image) image->seen = 1;
        }
    } else {
        u64 group = bpf_get_current_cgroup_id();
        u32 *box = groups.lookup(&group);
        if (!box) return 0;
        walk.box = *box;
        walk.image = begin_image(pid, *box, 0);
    }
    struct frame frame = {};
    struct code key = {.image = walk.image};
    if (bpf_probe_read_user(&frame, sizeof(frame), (void *)PT_REGS_PARM2(ctx))) return 0;
    key.address = frame.code;
    if (bpf_probe_read_user(&key.version, 4, (void *)(frame.code + 92))) return 0;
    u32 kind = kind_of(&key, walk.box);
    if (!kind) kind = learn(&key, walk.box);
    if (kind != FUNCTION) return 0;
    if (frame.owner == OWNED_BY_GENERATOR) {
        if (PT_REGS_PARM3(ctx) & 0xffffffff) return 0;
        if (!(version == 312 ? begins(frame.instruction, 75) : begins(frame.instruction - 2, 35))) return 0;
    } else {
        u32 flags = 0;
        bpf_probe_read_user(&flags, 4, (void *)(frame.code + 48));
        if (flags & GENERATORS) return 0;              /* the generator is made; it begins with its first step */
    }
    if (version == 312) {
        u64 c_frame = 0;
        bpf_probe_read_user(&c_frame, 8, (void *)(PT_REGS_PARM1(ctx) + 56));
        bpf_probe_read_user(&walk.next, 8, (void *)c_frame);
    } else {
        bpf_probe_read_user(&walk.next, 8, (void *)(PT_REGS_PARM1(ctx) + 72));
    }
    walk.callee = key.address;
    walk.callee_version = key.version;
    return walk_on(ctx, &walk);
}

/* A native function begins: its number is the cookie, its caller the return address, as a distance from here. */
struct native { u64 function, distance; u32 box, pad; };
BPF_F_TABLE("percpu_hash", struct native, u64, natives, 262144, 1);

int on_native(struct pt_regs *ctx) {
    u64 group = bpf_get_current_cgroup_id();
    u32 *box = groups.lookup(&group);
    if (!box) return 0;
    u64 back = 0;
    if (bpf_probe_read_user(&back, 8, (void *)PT_REGS_SP(ctx))) { lose(*box, LOST_UNREADABLE); return 0; }
    struct native key = {.function = bpf_get_attach_cookie(ctx), .distance = back - PT_REGS_IP(ctx), .box = *box};
    u64 zero = 0, *calls = natives.lookup_or_try_init(&key, &zero);
    if (calls) __sync_fetch_and_add(calls, 1);
    else lose(*box, LOST_EDGES);
    return 0;
}

int on_frame_312(struct pt_regs *ctx) { return on_frame(ctx, 312); }
int on_frame_313(struct pt_regs *ctx) { return on_frame(ctx, 313); }
"""
