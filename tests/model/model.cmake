# The fence protocol as a model, which spin searches. Sanitizers have nothing to look at in it: once is enough.
if(NFSACCEL_SANITIZE STREQUAL "")
  add_test(NAME model/fence COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/model/run.sh)
  set_tests_properties(model/fence PROPERTIES LABELS model SKIP_RETURN_CODE 77 TIMEOUT 1800 PROCESSORS 2)
endif()
