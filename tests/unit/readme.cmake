# The README's configuration reference is what the settings table prints.
add_test(NAME unit/readme_reference
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:nfsaccel_settings_doc> -DREADME=${PROJECT_SOURCE_DIR}/README.md
    -P ${CMAKE_CURRENT_SOURCE_DIR}/unit/readme_reference.cmake)
set_tests_properties(unit/readme_reference PROPERTIES LABELS unit TIMEOUT 30)
