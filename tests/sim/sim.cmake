# The simulation: clients, the proxy's deciding part and a model server in one thread, on a simulated clock.
#
# The product's sources are compiled once more, as they are, with override/cache/lock.h in the place of theirs: its locks
# are where another worker gets in between.
set(SIM_PRODUCT)
foreach(folder cache proxy)
  get_target_property(sources nfsaccel_${folder} SOURCES)
  list(REMOVE_ITEM sources lock.c)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  list(APPEND SIM_PRODUCT ${sources})
endforeach()
set(SIM_CACHE ${SIM_PRODUCT})
list(FILTER SIM_CACHE INCLUDE REGEX "/cache/[^/]*\\.c$")

add_library(sim_options INTERFACE)
target_include_directories(sim_options BEFORE INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/sim/override
  ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR})
target_compile_options(sim_options INTERFACE -O2)
target_link_libraries(sim_options INTERFACE PkgConfig::XXHASH)

add_library(sim_product STATIC ${SIM_PRODUCT})
target_link_libraries(sim_product PUBLIC sim_options nfsaccel_xdr nfsaccel_config)

add_library(sim_world STATIC sim/agenda.c sim/choice.c sim/contract.c sim/crowd.c sim/facts.c sim/fibers.c sim/history.c
  sim/house.c sim/incidents.c sim/judge.c sim/judge_hit.c sim/ledger.c sim/outside.c sim/pick.c sim/plan.c sim/run.c sim/site.c
  sim/story.c sim/shrink.c)
target_link_libraries(sim_world PUBLIC sim_options sim_nfsd nfsaccel_config)

add_executable(sim sim/main.c)
target_link_libraries(sim PRIVATE sim_world sim_product sim_world)

# Fibers and the thread sanitizer don't go together.
if(NOT NFSACCEL_SANITIZE STREQUAL "thread")
  add_test(NAME sim/some COMMAND sim --seeds 300)
  set_tests_properties(sim/some PROPERTIES LABELS sim TIMEOUT 300)
endif()
if(NFSACCEL_SANITIZE STREQUAL "")
  include(sim/breakages.cmake)
endif()
