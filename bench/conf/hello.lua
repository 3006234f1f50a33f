-- SPDX-License-Identifier: Apache-2.0
-- <h1>Hello NAME</h1> from the query string, for mod_lua.
function handle(r)
    r.content_type = "text/html"
    r:write("<h1>Hello " .. r:escape_html(r:parseargs().name or "") .. "</h1>\n")
    return apache2.OK
end
