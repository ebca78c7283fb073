#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int from_c(int x);
int from_cpp(int x);
#ifdef __cplusplus
}
#endif
