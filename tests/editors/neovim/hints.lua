-- The final values of the site in the settings, beside the texts that are overridden.

local editor = require('editor')

vim.lsp.config('layercake', {
  settings = { layercake = { site = 'north', inlayHints = { enable = true } } },
})

local function hints()
  local found = vim.lsp.inlay_hint.get({ bufnr = editor.buffer(editor.CLOUD) })
  return vim.tbl_map(function(it)
    local place = it.inlay_hint.position
    return ('%d:%d %s'):format(place.line + 1, place.character + 1, it.inlay_hint.label)
  end, found)
end

editor.open(editor.CLOUD)
vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
editor.becomes({ '21:15 → 5' }, hints)

-- Settings can change.
local client = editor.client()
local function set(settings)
  client.settings = { layercake = settings }
  client:notify('workspace/didChangeConfiguration', { settings = client.settings })
end
set({ site = 'south', inlayHints = { enable = true } })
editor.becomes({}, hints)
set({ site = 'north', inlayHints = { enable = true } })
editor.becomes({ '21:15 → 5' }, hints)
