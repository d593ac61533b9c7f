# The programs that tests/vm/*.sh run in Linux guests (and tree also here). They need libc only. Built into tests/ of the
# build folder, with vm- before their names.
add_library(nfsaccel_vm STATIC vm/expect.c)
target_include_directories(nfsaccel_vm PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})

function(nfsaccel_vm_program name)
  add_executable(vm-${name} ${ARGN})
  target_link_libraries(vm-${name} PRIVATE nfsaccel_vm)
endfunction()

nfsaccel_vm_program(tree vm/tree.c)
nfsaccel_vm_program(files vm/files.c vm/files_data.c vm/files_name.c vm/files_tree.c vm/files_users.c)
