#include "intake/priority.h"

static const struct {
  const char* name;
  int level;
} builtin[uvb__builtin_types + 1] = {
    [UV_BATCH_SIGNAL] = {"signal", uvb__high},         [UV_BATCH_PROCESS] = {"process", uvb__high},
    [UV_BATCH_ASYNC] = {"async", uvb__high},           [UV_BATCH_NETWORK] = {"network", uvb__normal},
    [UV_BATCH_FILESYSTEM] = {"filesystem", uvb__normal}, [UV_BATCH_STREAM] = {"stream", uvb__normal},
    [UV_BATCH_TIMER] = {"timer", uvb__normal},         [UV_BATCH_IDLE] = {"idle", uvb__low},
    [UV_BATCH_WORK] = {"work", uvb__low},              [UV_BATCH_BACKGROUND] = {"background", uvb__low},
};

const char* uvb__builtin_name(int type) {
  return builtin[type].name;
}

int uvb__class_of(int type) {
  return type <= uvb__builtin_types ? builtin[type].level : uvb__normal;
}
