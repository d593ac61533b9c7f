# The model server of the simulation: a file system in memory, and an NFS server in front of it.
add_library(sim_nfsd STATIC
  sim/draw.c
  sim/fs.c sim/fs_change.c sim/fs_name.c sim/fs_rights.c sim/fs_tree.c
  sim/nfsd.c sim/nfsd_acl.c sim/nfsd_again.c sim/nfsd_args.c sim/nfsd_dir.c sim/nfsd_handles.c sim/nfsd_procedure.c
  sim/nfsd_results.c)
target_include_directories(sim_nfsd PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_nfsd PUBLIC nfsaccel_xdr)
