nfsaccel_unit_test(cursor LIBS nfsaccel_xdr)
nfsaccel_unit_test(writer LIBS nfsaccel_xdr)
nfsaccel_unit_test(record LIBS nfsaccel_xdr)
nfsaccel_unit_test(record_direct LIBS nfsaccel_xdr)
nfsaccel_unit_test(record_limits LIBS nfsaccel_xdr)
# The test fails the reader's allocations.
target_link_options(test_record_limits PRIVATE -Wl,--wrap=realloc)
nfsaccel_unit_test(rpc LIBS nfsaccel_xdr)
nfsaccel_unit_test(nfs3 LIBS nfsaccel_xdr)
nfsaccel_unit_test(mount3 LIBS nfsaccel_xdr)
nfsaccel_unit_test(nfsacl3 LIBS nfsaccel_xdr)

# The same octets through decoders that are not ours. libtirpc and libnfs both export _null_auth: never both in one program.
nfsaccel_unit_test(rpc_tirpc LIBS nfsaccel_xdr PkgConfig::TIRPC)
foreach(name nfs3_args nfs3_res mount3 nfsacl3)
  nfsaccel_unit_test(${name}_libnfs SOURCES unit/libnfs_values.c LIBS nfsaccel_xdr PkgConfig::NFS)
endforeach()
