-- SPDX-License-Identifier: Apache-2.0
-- What wrk tells the bench when it ends: counts, and the whole distribution
-- of response times (microseconds and how many). Behind "--", DIRS FILES: as
-- many files below /many, each request to one of them chosen uniformly; or
-- one number: so many requests at once.

local seed = 0

function setup(thread)
    seed = seed + 1
    thread:set("seed", seed * 7919)
end

function init(args)
    if not args[1] then
        return
    end
    local dirs, files = tonumber(args[1]), tonumber(args[2])
    if not files then
        local all = string.rep(wrk.format(), dirs)
        request = function()
            return all
        end
        return
    end
    local random, format = math.random, string.format
    local tail = wrk.format():match(" HTTP/1.1\r\n.*")
    math.randomseed(seed)
    request = function()
        return format("GET /many/%03d/%03d.txt", random(0, dirs - 1),
            random(0, files - 1)) .. tail
    end
end

function done(summary, latency, requests)
    local e = summary.errors
    print(string.format("bench-counts %d %d %d %d %d %d %d %d",
        summary.requests, summary.bytes, summary.duration,
        e.connect, e.read, e.write, e.status, e.timeout))
    local lines = {}
    for i = 1, #latency do
        local us, count = latency(i)
        lines[i] = string.format("bench-latency %d %d", us, count)
    end
    print(table.concat(lines, "\n"))
end
