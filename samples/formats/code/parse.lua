local M = {}
local json = require("json")

--- Parses it.
-- more
function M.parse(text)
  return json.decode(text)
end

function M:method(a)
  self.a = a
end

local function helper(x)
  return x
end

M.format = function(a)
  return a
end

local Other = {
  run = function(self)
    print(1)
  end,
  stop = function() end,
}
return M
