fn good() { fine() }
// -> src/lib.rs#fine [lexical]

fn broken( {
    fine(
}

pub fn fine() { good() }
// -> src/lib.rs#good [lexical]
