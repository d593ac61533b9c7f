# The programs that tests/vm/*.sh run in Linux guests (and tree also here). They need libc only. Built into tests/ of the
# build folder, with vm- before their names.
add_library(nfsaccel_vm STATIC vm/expect.c vm/file_ops.c)
target_include_directories(nfsaccel_vm PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})

function(nfsaccel_vm_program name)
  add_executable(vm-${name} ${ARGN})
  target_link_libraries(vm-${name} PRIVATE nfsaccel_vm)
endfunction()

nfsaccel_vm_program(tree vm/tree.c)
nfsaccel_vm_program(files vm/files.c vm/files_data.c vm/files_name.c vm/files_tree.c vm/files_users.c)
nfsaccel_vm_program(open_close vm/open_close.c vm/open_close_data.c vm/open_close_names.c vm/turns.c)
nfsaccel_vm_program(integrity vm/integrity.c vm/integrity_file.c vm/integrity_tree.c vm/model.c vm/model_check.c
  vm/replay.c vm/tree_steps.c vm/turns.c)
