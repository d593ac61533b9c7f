function(nfsaccel_cache_test name)
  nfsaccel_unit_test(${name} SOURCES unit/cache_fixture.c LIBS nfsaccel_cache ${ARGN})
endfunction()

nfsaccel_cache_test(cache_model)
nfsaccel_cache_test(cache_memory)
