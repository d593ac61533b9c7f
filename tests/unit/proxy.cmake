# The deciding part of the proxy, between clients and a server that the test plays.
add_library(unit_stage STATIC unit/stage.c unit/stage_nfs.c unit/stage_says.c unit/stage_ways.c
  unit/stage_world.c)
target_include_directories(unit_stage PUBLIC unit)
target_link_libraries(unit_stage PUBLIC nfsaccel_proxy PkgConfig::CMOCKA)

nfsaccel_unit_test(order LIBS nfsaccel_proxy Threads::Threads)
nfsaccel_unit_test(upstream_links LIBS nfsaccel_proxy)
nfsaccel_unit_test(upstream_resends LIBS nfsaccel_proxy)
nfsaccel_unit_test(upstream LIBS nfsaccel_proxy)
# The test fails the ring's allocations.
target_link_options(test_upstream PRIVATE -Wl,--wrap=calloc)
foreach(name credential request call_hits call_clients call_coherence call_cases
    call_unreadable_credential track_questions track_answers track_create track_odd
    track_behind_the_back
    track_doubtful track_unreadable track_order track_overtaken track_directories shared_ages shared_names
    shared_outside shared_before call_settle call_no_links call_asked)
  nfsaccel_unit_test(${name} LIBS unit_stage)
endforeach()
nfsaccel_unit_test(track_matrix SOURCES unit/track_rows.c unit/track_outcome.c LIBS unit_stage)
nfsaccel_unit_test(call_memory LIBS unit_stage)
# The test fails the proxy's allocations one by one.
target_link_options(test_call_memory PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc)
nfsaccel_unit_test(call_doubt LIBS unit_stage nfsaccel_daemon)
nfsaccel_unit_test(silence LIBS nfsaccel_daemon)
nfsaccel_unit_test(report LIBS nfsaccel_daemon)
foreach(name verify verify_attributes verify_answers verify_outdated)
  nfsaccel_unit_test(${name} SOURCES unit/verify_scene.c LIBS unit_stage)
endforeach()
# The test fails the allocation of a check.
target_link_options(test_verify PRIVATE -Wl,--wrap=calloc)
