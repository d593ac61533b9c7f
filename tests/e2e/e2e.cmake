# The clients of the end-to-end tests, which tests/e2e/*.sh run. Built into tests/ of the build folder, with e2e- before
# their names.
add_library(nfsaccel_e2e STATIC e2e/check.c e2e/fake_server.c e2e/nfs_call.c e2e/nfs_client.c e2e/nfs_reply.c e2e/raw.c
  e2e/session.c
  e2e/stat_count.c)
target_include_directories(nfsaccel_e2e PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(nfsaccel_e2e PUBLIC PkgConfig::NFS PkgConfig::JANSSON)

function(nfsaccel_e2e_client name)
  add_executable(e2e-${name} ${ARGN})
  target_link_libraries(e2e-${name} PRIVATE nfsaccel_e2e)
endfunction()

nfsaccel_e2e_client(mutations e2e/mutations.c e2e/mutations_field.c e2e/mutations_name.c e2e/mutations_object.c
  e2e/mutations_rename.c e2e/watch.c)
nfsaccel_e2e_client(race e2e/race.c)
nfsaccel_e2e_client(files e2e/files.c)
nfsaccel_e2e_client(load e2e/load.c)
nfsaccel_e2e_client(idle e2e/idle.c)
nfsaccel_e2e_client(probe e2e/probe.c)
nfsaccel_e2e_client(drain e2e/drain.c)
nfsaccel_e2e_client(twins e2e/twins.c)
nfsaccel_e2e_client(shared e2e/shared.c)
nfsaccel_e2e_client(hostile e2e/hostile.c)
nfsaccel_e2e_client(verify e2e/verify.c)
nfsaccel_e2e_client(stress e2e/stress.c e2e/stress_client.c e2e/stress_compare.c)
add_executable(e2e-thief e2e/thief.c)
nfsaccel_e2e_client(fake_cases e2e/fake_cases.c)
# The octets, and the small world of files, are those of the unit tests.
nfsaccel_e2e_client(field e2e/field.c e2e/field_access.c e2e/field_behind.c e2e/field_coherence.c
  e2e/field_directory.c e2e/field_handle.c e2e/field_main.c e2e/field_matrix.c e2e/field_nfs.c e2e/field_scene.c
  unit/stage_nfs.c unit/stage_world.c unit/track_outcome.c unit/track_rows.c)
target_link_libraries(e2e-field PRIVATE nfsaccel_xdr PkgConfig::CMOCKA)
