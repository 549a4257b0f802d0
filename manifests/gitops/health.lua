-- The health of a QueueBox, Source, Destination or Route, for Argo CD: the kustomization beside it registers it for each.
local suspended = obj.spec ~= nil and obj.spec.suspend
local status = obj.status or {}
if status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
  if suspended then
    return { status = "Suspended", message = "suspended" }
  end
  return { status = "Progressing", message = "the operator has not seen this generation yet" }
end
local found = {}
for _, condition in ipairs(status.conditions) do
  found[condition.type] = condition
end
local function is(type, wanted)
  return found[type] ~= nil and found[type].status == wanted
end
local function says(type)
  return (found[type].reason or "") .. ": " .. (found[type].message or "")
end
-- A suspended box whose agents are down is not ready, and that is not what anybody asked for.
if suspended and not is("Ready", "False") then
  return { status = "Suspended", message = "suspended" }
end
if is("Stalled", "True") then
  return { status = "Degraded", message = says("Stalled") }
end
if is("Ready", "True") then
  return { status = "Healthy", message = says("Ready") }
end
-- As of a Deployment that is past its deadline: a person is to look, though it may still come up.
if is("Ready", "False") and found["Ready"].reason == "RolloutFailed" then
  return { status = "Degraded", message = says("Ready") }
end
if is("Reconciling", "True") then
  return { status = "Progressing", message = says("Reconciling") }
end
if is("Ready", "False") then
  return { status = "Degraded", message = says("Ready") }
end
return { status = "Progressing", message = "not ready yet" }
