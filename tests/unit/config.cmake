nfsaccel_unit_test(settings LIBS nfsaccel_config)
target_compile_definitions(test_settings PRIVATE
  SETTINGS_EXAMPLE="${PROJECT_SOURCE_DIR}/config/nfsaccel.conf.example")
nfsaccel_unit_test(settings_address LIBS nfsaccel_config)
nfsaccel_unit_test(settings_errors LIBS nfsaccel_config)
target_compile_definitions(test_settings_errors PRIVATE
  SETTINGS_EXAMPLE="${PROJECT_SOURCE_DIR}/config/nfsaccel.conf.example")
nfsaccel_unit_test(settings_memory LIBS nfsaccel_config)
# The test fails the library's allocations one by one.
target_link_options(test_settings_memory PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup)
