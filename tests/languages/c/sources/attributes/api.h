#define API_CALL
extern API_CALL int first OF((int a));
ZEXTERN int ZEXPORT second(int a);
local_inline int third(int a) { return first(a); }
// -> api.c#first [import]
#ifdef __cplusplus
extern "C" {
#endif
int fourth(int a);
#ifdef __cplusplus
}
#endif
