# The simulation with one rule of the product broken: each must be caught within 10,000 seeds, or the check is worth nothing.
#
# A breakage replaces text of one file, which must stand there exactly once: who changes that line of the product changes it
# here too. Only a copy is changed, and only that is compiled again.
set(SIM_BREAKAGE_SEEDS 10000)

function(sim_break_text file old new)
  string(FIND "${text}" "${old}" first)
  string(FIND "${text}" "${old}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "breakage ${name}: in ${file} this does not stand exactly once:\n${old}")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

# sim_breakage(NAME FILE OLD NEW [OLD NEW]...)
function(sim_breakage name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  set(i 2)
  while(i LESS ARGC)
    math(EXPR j "${i} + 1")
    sim_break_text(${file} "${ARGV${i}}" "${ARGV${j}}")
    math(EXPR i "${i} + 2")
  endwhile()
  set(root ${CMAKE_CURRENT_BINARY_DIR}/broken/${name})
  file(CONFIGURE OUTPUT ${root}/${file} CONTENT "${text}" @ONLY)
  set(sources ${root}/${file})
  if(file MATCHES "\\.h$")
    # Whatever includes it: a member of the archive is not taken where what it defines is there already.
    set(sources ${SIM_CACHE})
  endif()
  add_executable(sim_broken_${name} sim/main.c ${sources})
  target_include_directories(sim_broken_${name} BEFORE PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/sim/override ${root})
  target_link_libraries(sim_broken_${name} PRIVATE sim_world sim_product sim_world)
  add_test(NAME sim/broken/${name} COMMAND sim_broken_${name} --broken --seeds ${SIM_BREAKAGE_SEEDS})
  set_tests_properties(sim/broken/${name} PROPERTIES LABELS "sim;broken" TIMEOUT 300)
endfunction()

# ---- the fence

sim_breakage(stamp_unchecked cache/fence.h
  "return fence->inflight == 0 && fence->stamp <= sent;" "return fence->inflight == 0 && (sent || true);")
sim_breakage(inflight_unchecked cache/fence.h
  "return fence->inflight == 0 && fence->stamp <= sent;" "return fence->stamp <= sent;")
sim_breakage(shown_forgotten cache/fence.h
  "return fence->shown <= sent || fence->state == state;" "return sent || state || fence->shown || true;")
sim_breakage(end_without_stamp cache/fence.c
  "    fence->inflight--;\n    fence_raise(fence, stamp);" "    fence->inflight--;\n    (void)stamp;")
sim_breakage(begin_keeps_the_value cache/mutation.c
  "    fattr_wcc(object->fattr, of->before);\n    object_touch(server, object, hash);"
  "    fattr_wcc(object->fattr, of->before);")
sim_breakage(begin_keeps_the_name cache/mutation.c
  "    name_drop_hash(mutation->server, hash);" "")
sim_breakage(own_kept_though_not_alone cache/mutation.c
  "return fence_alone(fence, mutation->fence[own].number, mutation->sent, state);" "return state || true;")
sim_breakage(end_with_questions_open proxy/call.c
  "        if (question.kind != TRACK_NOTHING) {\n            call_move(call, CALL_CHECKING);" "        if (question.kind == TRACK_ASK_FOUND && !record) {\n            call_move(call, CALL_CHECKING);")
sim_breakage(sent_when_it_came proxy/call.c
  "reply.sent = call->sent_at;" "reply.sent = cache_tick(request->cache);")
sim_breakage(overlap_kept cache/fill.c
  "if (admitted && news->sent >= object_received(object))" "if (admitted)")
sim_breakage(evicted_object_forgotten cache/object.c
  "    if (object->flags & OBJECT_VALID)\n        object_show(server, object, shard_fence(server, hash));\n    lock_acquire(&stripe->lock);\n    if (object->flags & OBJECT_VALID)\n        object_show(server, object, identity_fence(&identity));"
  "    lock_acquire(&stripe->lock);")

# ---- what each procedure changes

sim_breakage(remove_forgets_the_object proxy/procedure.c
  "    [NFS3_REMOVE] = {.name = \"REMOVE\",\n                     .args = nfs3_args_dirop,\n                     .res = nfs3_res_wcc,\n                     .changes = CHANGES_OBJECT | CHANGES_NAME | CHANGES_BEHIND,"
  "    [NFS3_REMOVE] = {.name = \"REMOVE\",\n                     .args = nfs3_args_dirop,\n                     .res = nfs3_res_wcc,\n                     .changes = CHANGES_OBJECT | CHANGES_NAME,")
sim_breakage(rmdir_forgets_the_directory proxy/procedure.c
  "    [NFS3_RMDIR] = {.name = \"RMDIR\",\n                    .args = nfs3_args_dirop,\n                    .res = nfs3_res_wcc,\n                    .changes = CHANGES_OBJECT | CHANGES_NAME | CHANGES_BEHIND,"
  "    [NFS3_RMDIR] = {.name = \"RMDIR\",\n                    .args = nfs3_args_dirop,\n                    .res = nfs3_res_wcc,\n                    .changes = CHANGES_OBJECT | CHANGES_NAME,")
sim_breakage(rename_forgets_the_overwritten proxy/procedure.c
  "CHANGES_OBJECT2 | CHANGES_NAME2 | CHANGES_BEHIND2," "CHANGES_OBJECT2 | CHANGES_NAME2,")
sim_breakage(rename_forgets_the_moved proxy/procedure.c
  "CHANGES_OBJECT | CHANGES_NAME | CHANGES_BEHIND | CHANGES_PARENT |" "CHANGES_OBJECT | CHANGES_NAME |")
sim_breakage(rename_forgets_dot_dot proxy/track.c
  "if ((request->procedure->changes & CHANGES_PARENT) &&" "if (false && (request->procedure->changes & CHANGES_PARENT) &&")
sim_breakage(link_forgets_the_name proxy/procedure.c
  "CHANGES_OBJECT | CHANGES_OBJECT2 | CHANGES_NAME2," "CHANGES_OBJECT | CHANGES_OBJECT2,")
sim_breakage(create_forgets_the_name proxy/procedure.c
  "#define NAMES_NEW (CHANGES_OBJECT | CHANGES_NAME)" "#define NAMES_NEW CHANGES_OBJECT")
sim_breakage(create_forgets_what_it_met proxy/track.c
  "        found(track, request, res->handle, res->object);\n    cache_mutation_name_result" "        track->found_len = 0;\n    cache_mutation_name_result")
sim_breakage(create_without_a_handle_asks_nothing proxy/track.c
  "if (track->behind.state == BEHIND_OPEN && (before || track->begun))" "if (track->behind.state == BEHIND_OPEN && before)")
sim_breakage(cached_name_believed_in_shared proxy/track.c
  "if (!exclusive(request) || !cache_mutation_identified(&track->mutation, behind->object))"
  "if (!cache_mutation_identified(&track->mutation, behind->object))")
sim_breakage(cached_absence_believed_in_shared proxy/track.c
  "        if (exclusive(request))\n            behind->state = BEHIND_ABSENT;" "        behind->state = BEHIND_ABSENT;")
sim_breakage(refused_look_believed proxy/track.c
  "    track->doubt |= track->unanswered || (track->unseen && track->succeeded);\n" "")
sim_breakage(names_not_ordered proxy/track.c
  "    if (changes & CHANGES_NAME)\n        order_ticket_add(" "    if (changes & CHANGES_NAME && scope == UINT32_MAX)\n        order_ticket_add(")

# ---- one file under several handles

sim_breakage(aliases_forgotten cache/mutation.c
  "    of->fenced = true;\n    identity_collect(&identity, aliases);" "    of->fenced = true;\n    (void)aliases;")
sim_breakage(identity_not_fenced cache/mutation.c
  "    raise_fence(mutation, true, identity.hash);\n    of->fenced = true;" "    of->fenced = true;")
sim_breakage(vanishing_file_not_identified proxy/track.c
  "track->begun ? end_question(track) : vanishing_question(track, request);"
  "track->begun ? end_question(track) : (vanishing_question(track, request), question);")
sim_breakage(alias_contradiction_kept cache/fill.c
  "        object_invalidate(news->server, object, object_hash(news->server, object_handle(object)));\n    }\n    return in_order;"
  "    }\n    return in_order;")

# ---- errors, doubt

sim_breakage(acces_remembered_as_absent proxy/harvest.c
  "} else if (res->status == NFS3ERR_NOENT) {" "} else if (res->status == NFS3ERR_NOENT || res->status == NFS3ERR_ACCES) {")
sim_breakage(jukebox_remembered_as_absent proxy/harvest.c
  "} else if (res->status == NFS3ERR_NOENT) {" "} else if (res->status == NFS3ERR_NOENT || res->status == NFS3ERR_JUKEBOX) {")
sim_breakage(stale_handle_kept proxy/harvest.c
  "    if (harvest_handle_gone(reply)) {\n        cache_drop_handle(request->cache, request->args.object);\n    } else if (fattr != NULL) {"
  "    if (fattr != NULL) {")
sim_breakage(lost_link_not_doubted proxy/service.c
  "    cache_doubt(service->cache, service->engine->now + service->settings->doubt);" "    (void)service;")
sim_breakage(write_verifier_unwatched proxy/track.c
  "        service_doubt(service);\n    service->write_verf_known" "        service->write_verf_known = true;\n    service->write_verf_known")
sim_breakage(names_outlive_doubt cache/hit.c
  "found = packed_get48(name->received) >= server_valid_from(reader->server) &&\n                fresh" "found = fresh")
sim_breakage(filled_across_doubt cache/attributes.c
  "&&\n           news->sent >= server_valid_from(news->server);" ";")

# ---- errors of what the proxy asks itself, and of work that was done

sim_breakage(failed_look_forgotten proxy/track.c
  "    else if (!reply->decoded || !nothing_there(reply->res.status))\n        track->doubt = true;"
  "    else if (!reply->decoded || !nothing_there(reply->res.status))\n        return;")
sim_breakage(denied_look_forgotten proxy/track.c
  "        track->unanswered = true;" "        return;")
sim_breakage(denied_look_after_the_work_forgotten proxy/track.c
  "    if (track->begun)\n        track->doubt = true;" "    if (track->begun)\n        return;")
sim_breakage(refused_look_after_the_work_forgotten proxy/track.c
  "        track->doubt |= track->succeeded && !absent;" "        track->doubt |= false && absent;")
sim_breakage(failed_identity_forgotten proxy/track.c
  "        track->doubt |= !gone || track->succeeded;" "        track->doubt |= gone && track->succeeded;")
sim_breakage(stale_identity_believed proxy/track.c
  "    else if (gone && !track->begun)\n        track->unseen = true;" "    else if (gone && !track->begun)\n        return;")
sim_breakage(broken_server_taken_for_a_denial proxy/track.c
  "return reply->readable && !reply->executed && !broke;" "return reply->readable && !reply->executed && (broke || true);")
sim_breakage(unreadable_reply_taken_for_a_failure proxy/track.c
  "return !reply->decoded || reply->res.status == NFS3_OK ||" "return (reply->decoded && reply->res.status == NFS3_OK) ||")
sim_breakage(trouble_taken_for_a_refusal proxy/track.c
  "reply->res.status == NFS3_OK || reply->res.status == NFS3ERR_IO ||\n           reply->res.status == NFS3ERR_SERVERFAULT;" "reply->res.status == NFS3_OK;")

# ---- permission

sim_breakage(groups_ignored cache/credential.c
  "kept->flavor == credential->flavor && kept->gid_count == credential->gid_count &&\n           (kept->gid_count == 0 ||"
  "kept->flavor == credential->flavor &&\n           (true || kept->gid_count == 0 ||")
sim_breakage(bits_not_asked_for cache/verdict.c
  "return !verdict->searched && (verdict->asked & mask) == mask;" "return !verdict->searched && (mask || true);")
sim_breakage(search_right_unchecked cache/hit.c
  "servable(reader, object) && verdict_searchable(reader, object);" "servable(reader, object);")

# ---- ages, and changes behind the proxy's back

sim_breakage(attributes_do_not_age cache/fresh.c
  "return (ages->exclusive && !state->doubtful) || age < fresh_age(ages, state);" "return true;")
sim_breakage(attributes_do_not_age_in_doubt cache/attributes.c
  "return server_in_doubt(news->server, news->asked) || nfs3_fattr_nlink" "return nfs3_fattr_nlink")
sim_breakage(absence_does_not_age cache/fresh.c
  "    if (name->negative && age >= ages->negative_age)\n        return false;" "")
sim_breakage(verdicts_do_not_age cache/fresh.c
  "return since(fetched, now) < ages->access_age;" "return ages && (fetched || now || true);")
sim_breakage(age_counted_from_the_reply proxy/harvest.c
  ".asked = reply->asked," ".asked = request->service->engine->now,")
sim_breakage(settling_ignored cache/fresh.c
  "age >= ages->settle_age)" "age > UINT64_MAX - 1)")
sim_breakage(changed_before_ignored cache/mutation_reply.c
  "    if (memcmp(before, of->before, NFS3_WCC_ATTR_LEN) == 0)\n        return true;" "    if (before)\n        return true;")
sim_breakage(outside_change_keeps_names cache/attributes.c
  "    object_drop_names(server, object, hash);\n    shard_of(server->cache, hash)->outside++;" "    shard_of(server->cache, hash)->outside++;")
sim_breakage(outside_change_keeps_verdicts cache/attributes.c
  "    object_drop_verdicts(server, object, hash);\n    object_drop_names(server, object, hash);" "    object_drop_names(server, object, hash);"
  "    else if (!fattr_same_owner(object->fattr, news->fattr))\n        object_drop_verdicts(news->server, object, news->hash);" "")
