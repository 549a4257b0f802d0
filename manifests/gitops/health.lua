-- The health of a QueueBox, Source, Destination or Route, for Argo CD: the kustomization beside it registers it for each.
if obj.spec ~= nil and obj.spec.suspend then
  return { status = "Suspended", message = "suspended" }
end
local status = obj.status or {}
if status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
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
if is("Stalled", "True") then
  return { status = "Degraded", message = says("Stalled") }
end
if is("Ready", "True") then
  return { status = "Healthy", message = says("Ready") }
end
if is("Reconciling", "True") then
  return { status = "Progressing", message = says("Reconciling") }
end
if is("Ready", "False") then
  return { status = "Degraded", message = says("Ready") }
end
return { status = "Progressing", message = "not ready yet" }
